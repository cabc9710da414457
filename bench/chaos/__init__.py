"""Faults on purpose: a real site is killed, frozen and cut off while people work, and then nothing may be missing.

`make chaos` (`python -m bench.chaos`) runs web servers, workers, beat, a broker and a database of their own.
People write, verify, link and review as the scripts in the browser do; each keeps a log of what was acknowledged.
In the end `checking` compares these logs with the database.
"""
