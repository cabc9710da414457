"""The load of two years, in an empty database: `python -m bench.two_years --share 1 --seed 1`.

What the app makes once is made by the app (haystacks by its import, sessions by its verbs); SQL multiplies it.
"""
