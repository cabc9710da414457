"""Intervals from a standard error, by Student's t; the chi-square distribution of variances."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1_000)
def t_quantile(df: float, level: float = 0.95) -> float:
    """How many standard errors an interval of this level reaches to either side."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + level / 2))


def t_interval(value: float, se: float, df: float, level: float = 0.95) -> tuple[float, float]:
    """Both ends of the interval of a value whose standard error has `df` degrees of freedom."""
    half = t_quantile(df, level) * se
    return value - half, value + half


def student(t: float, df: float) -> float:
    """The share of Student's distribution below t."""
    from scipy.special import stdtr

    return float(stdtr(df, t))


def chi_square(x: float, df: float) -> float:
    """The share of the chi-square distribution below x."""
    from scipy.special import chdtr

    return float(chdtr(df, x))


@lru_cache(maxsize=1_000)
def chi_square_quantile(share: float, df: float) -> float:
    """Below which x this share of the chi-square distribution lies."""
    from scipy.special import chdtri

    return float(chdtri(df, 1 - share))
