"""Rules between slots, such as `start < 0.6 * rent`: comparisons and arithmetic, nothing else is evaluated."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

_OPERATIONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.NotEq: operator.ne,
}


class WrongRule(ValueError):
    """It is no comparison of numbers and slots."""


def names_in(rule: str) -> set[str]:
    """The slots that a rule compares.

    Raises:
        WrongRule: it cannot be read.
    """
    return {node.id for node in ast.walk(_parsed(rule)) if isinstance(node, ast.Name)}


def holds(rule: str, values: Mapping[str, float]) -> bool:
    """Whether a rule is kept by these values; chains such as `1 < a < b` are read as usual.

    Raises:
        WrongRule: it cannot be read, names no slot that has a number, or divides by nought.
    """
    compared = _parsed(rule)
    left = _number(compared.left, values)
    for sign, node in zip(compared.ops, compared.comparators, strict=True):
        right = _number(node, values)
        if type(sign) not in _OPERATIONS:
            raise WrongRule(f"“{rule}” compares by something else than <, <=, >, >= and !=")
        if not _OPERATIONS[type(sign)](left, right):
            return False
        left = right
    return True


def _parsed(rule: str) -> ast.Compare:
    try:
        body = ast.parse(rule, mode="eval").body
    except SyntaxError as error:
        raise WrongRule(f"“{rule}” cannot be read") from error
    if not isinstance(body, ast.Compare):
        raise WrongRule(f"“{rule}” is no comparison")
    return body


def _number(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name(id=name):
            if name not in values:
                raise WrongRule(f"“{name}” is no slot above this one with a number")
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, values)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATIONS:
            try:
                return float(_OPERATIONS[type(sign)](_number(left, values), _number(right, values)))
            except ZeroDivisionError as error:
                raise WrongRule("it divides by nought") from error
    raise WrongRule(f"“{ast.unparse(node)}” is neither a number nor a slot")
