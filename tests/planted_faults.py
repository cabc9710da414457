"""Faults that the tests must catch. `python -m tests.plant` plants one after the other in a copy of the checkout.

A fault is named by a piece of text that occurs once in the whole program, so that files can move.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """What breaks when `text` becomes `instead`, and the test modules of which one must fail then."""

    breaks: str
    text: str
    instead: str
    caught_by: tuple[str, ...]


FAULTS = (
    Fault(
        "the clock of a session runs backwards with that of the host",
        "    return max(now, state.clock_hwm_ms)\n",
        "    return now\n",
        ("tests/annotation/test_clock.py", "tests/annotation/test_clock_cases.py"),
    ),
    Fault(
        "a session ends at its deadline, without the grace",
        "    elif deadline is not None and t >= deadline + state.grace_ms:",
        "    elif deadline is not None and t >= deadline:",
        ("tests/annotation/test_clock.py", "tests/annotation/test_clock_cases.py"),
    ),
    Fault(
        "a draft that builds on an older text overwrites the newer one",
        "    if draft.base_rev != row.draft_rev:",
        "    if draft.base_rev > row.draft_rev:",
        ("tests/annotation/test_drafting.py",),
    ),
    Fault(
        "a text that is refused is thrown away",
        "    _insert(held, tab_id, draft, code=code)\n",
        "",
        ("tests/annotation/test_drafting.py",),
    ),
    Fault(
        "two workers have the same rows at once",
        "Q(claimed_at__lt=now - self.length)",
        "Q(claimed_at__lte=now)",
        ("tests/benchmarks/engine/test_leases.py", "tests/benchmarks/engine/test_worker_crew.py"),
    ),
    Fault(
        "a run spends more than its budget, as requests on their way do not count",
        "        if self.settled + self.reserved + worst > self.cap:",
        "        if self.settled + worst > self.cap:",
        ("tests/benchmarks/engine/test_budgets.py",),
    ),
    Fault(
        "reasoning before an answer is read as the answer",
        "        text=without_reasoning(content_of(message)),\n",
        "        text=content_of(message),\n",
        ("tests/benchmarks/engine/test_quirks_of_servers.py",),
    ),
    Fault(
        "an error with status 200 is no error",
        "    if (error := error_in(data)) is not None:\n",
        "    if (error := error_in(None)) is not None:\n",
        ("tests/benchmarks/engine/test_quirks_of_servers.py",),
    ),
    Fault(
        "whoever is logged in may open every page",
        "            if permission != LOGGED_IN and not request.user.has_perm(permission):",
        "            if not request.user.is_active:",
        ("tests/audit/test_access.py",),
    ),
    Fault(
        "researchers see the studies of others",
        "        return self.filter(Q(created_by=user) | Exists(member))",
        "        return self.filter(Q(created_by__isnull=False) | Exists(member))",
        ("tests/annotation/test_study_list.py", "tests/annotation/test_study_pages.py"),
    ),
    Fault(
        "Randolph's kappa takes another chance agreement than 1/q",
        "    return above_chance(ratio(totals), 1 / q)",
        "    return above_chance(ratio(totals), 1 / (q + 1))",
        ("tests/scoring/test_agreement.py",),
    ),
    Fault(
        "linking accuracy counts a pair in which only one linked",
        "    headline = both & covers[0] & covers[1] & has_link[0] & has_link[1]\n",
        "    headline = both & covers[0] & covers[1] & has_link[0]\n",
        ("tests/scoring/test_comparison.py",),
    ),
    Fault(
        "intervals over few clusters are too narrow",
        "    return NormalDist().cdf(-t * math.sqrt(n_clusters / (n_clusters - 1)))",
        "    return (1 - level) / 2",
        ("tests/scoring/test_intervals.py",),
    ),
    Fault(
        "the joint score ignores how far an insight is covered",
        "    joint = by_label * (citation.f1 if citation else 0.0) if gold else None",
        "    joint = (citation.f1 if citation else 0.0) if gold else None",
        ("tests/scoring/test_summhay.py",),
    ),
    Fault(
        "archived judges count in results",
        '    return Q(**{f"{path}archived_at": None})',
        "    return Q()",
        ("tests/annotation/test_results_stay_true.py",),
    ),
    Fault(
        "excluded sessions count in results",
        "        return self.session.state in clock.HANDED_IN and not self.is_excluded",
        "        return self.session.state in clock.HANDED_IN",
        ("tests/annotation/test_results.py",),
    ),
    Fault(
        "a cell of a CSV can be run as a formula",
        "    if isinstance(value, str) and value.startswith(FORMULA_STARTS):",
        "    if isinstance(value, str) and value == FORMULA_STARTS:",
        ("tests/site/test_audit_and_system.py",),
    ),
    Fault(
        "texts of documents are HTML where passages are marked",
        'data-span tabindex="-1"{% endif %}>{{ piece.text }}</mark',
        'data-span tabindex="-1"{% endif %}>{{ piece.text|safe }}</mark',
        ("tests/annotation/test_verification_work.py",),
    ),
    Fault(
        "passwords can be guessed without end",
        "AXES_FAILURE_LIMIT = 8",
        "AXES_FAILURE_LIMIT = 8_000",
        ("tests/site/test_login.py",),
    ),
    Fault(
        "other sites can send forms in the name of who is logged in",
        '    "django.middleware.csrf.CsrfViewMiddleware",\n',
        "",
        ("tests/annotation/test_session_endpoints.py",),
    ),
    Fault(
        "a file whose ids are not unique is imported",
        '            self.problems.error("duplicate_id", where, name,',
        '            self.problems.warning("duplicate_id", where, name,',
        ("tests/benchmarks/io/test_summhay.py",),
    ),
    Fault(
        "an undo takes back what was taken back already",
        "    return rows.filter(undoes=None, undone_by=None)",
        "    return rows.filter(undoes=None)",
        ("tests/annotation/test_label_acts.py", "tests/annotation/test_linking.py"),
    ),
    Fault(
        "tasks are dealt to whoever has most",
        "            shares.give(min(free, key=lambda person: shares.work[person]), pk)",
        "            shares.give(max(free, key=lambda person: shares.work[person]), pk)",
        ("tests/annotation/test_dealing.py",),
    ),
    Fault(
        "the name of an erased person stays in the audit log",
        '    _forget_in_audit("summhay_site.user", str(tombstone.user), "Erased person")\n',
        "",
        ("tests/site/test_erasure.py",),
    ),
    Fault(
        "another repeat of a question gets the answer of the first",
        "    content = json.dumps([body, base_url, repeat], sort_keys=True, ensure_ascii=False)",
        "    content = json.dumps([body, base_url], sort_keys=True, ensure_ascii=False)",
        ("tests/benchmarks/engine/test_model_runs.py",),
    ),
    Fault(
        "an exported haystack lacks the lines that verdicts link",
        "row.insight.key, row.coverage, tuple(row.lines), raw=row.raw",
        "row.insight.key, row.coverage, (), raw=row.raw",
        ("tests/benchmarks/io/test_writers.py",),
    ),
)

NAMED_TESTS: frozenset[str] = frozenset()
