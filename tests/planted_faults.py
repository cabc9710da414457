"""Faults that the tests must catch. `python -m tests.plant` plants one after the other in a copy of the checkout.

A fault is named by a piece of text that occurs once in the whole program, so that files can move.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """What breaks when `text` becomes `instead`, and the test that must fail then, a cheap one."""

    breaks: str
    text: str
    instead: str
    caught_by: str


FAULTS = (
    Fault(
        "the clock of a session runs backwards with that of the host",
        "    return max(now, state.clock_hwm_ms)\n",
        "    return now\n",
        "tests/annotation/test_clock_cases.py::test_a_host_clock_that_steps_back_holds_active_time_and_is_reported",
    ),
    Fault(
        "a session ends at its deadline, without the grace",
        "    elif deadline is not None and t >= deadline + state.grace_ms:",
        "    elif deadline is not None and t >= deadline:",
        "tests/annotation/test_clock_cases.py::test_in_the_grace_the_clock_stands_at_the_limit_and_a_last_save_is_stamped_there",
    ),
    Fault(
        "a draft that builds on an older text overwrites the newer one",
        "    if draft.base_rev != row.draft_rev:",
        "    if draft.base_rev > row.draft_rev:",
        "tests/annotation/test_drafting.py::test_a_stale_text_is_kept_uncounted_and_the_new_revision_is_not_told",
    ),
    Fault(
        "a text that is refused is thrown away",
        "    _insert(held, tab_id, draft, code=code)\n",
        "",
        "tests/annotation/test_drafting.py::test_a_session_that_was_not_started_takes_no_text_but_keeps_it",
    ),
    Fault(
        "two workers have the same rows at once",
        "Q(claimed_at__lt=now - self.length)",
        "Q(claimed_at__lte=now)",
        "tests/benchmarks/engine/test_slices.py::test_a_row_without_the_name_of_its_worker_is_free_before_and_after_its_lease",
    ),
    Fault(
        "a run spends more than its budget, as requests on their way do not count",
        "        if self.settled + self.reserved + worst > self.cap:",
        "        if self.settled + worst > self.cap:",
        "tests/benchmarks/engine/test_budgets.py::test_a_request_has_to_fit_beside_those_on_their_way",
    ),
    Fault(
        "reasoning before an answer is read as the answer",
        "        text=without_reasoning(content_of(message)),\n",
        "        text=content_of(message),\n",
        "tests/benchmarks/engine/test_quirks_of_servers.py::test_a_judge",
    ),
    Fault(
        "an error with status 200 is no error",
        "    if (error := error_in(data)) is not None:\n",
        "    if (error := error_in(None)) is not None:\n",
        "tests/judges/test_replies.py::test_an_error_is_classed_by_its_code",
    ),
    Fault(
        "whoever is logged in may open every page",
        "            if permission != LOGGED_IN and not request.user.has_perm(permission):",
        "            if not request.user.is_active:",
        "tests/annotation/test_latest.py::test_a_stranger_sees_no_results_and_annotators_no_such_page",
    ),
    Fault(
        "researchers see the studies of others",
        "        return self.filter(Q(created_by=user) | Exists(member))",
        "        return self.filter(Q(created_by__isnull=False) | Exists(member))",
        "tests/annotation/test_latest.py::test_a_stranger_sees_no_results_and_annotators_no_such_page",
    ),
    Fault(
        "Randolph's kappa takes another chance agreement than 1/q",
        "        return above_chance(ratio(totals), 1 / q)",
        "        return above_chance(ratio(totals), 1 / (q + 1))",
        "tests/scoring/test_agreement.py::test_q_is_what_the_task_allows_not_what_occurs",
    ),
    Fault(
        "linking accuracy counts a pair in which only one linked",
        "    headline = both & covers[0] & covers[1] & has_link[0] & has_link[1]\n",
        "    headline = both & covers[0] & covers[1] & has_link[0]\n",
        "tests/scoring/test_comparison.py::test_a_judge_that_covers_without_a_link_is_a_strict_miss_and_no_pair_of_links",
    ),
    Fault(
        "intervals over few clusters are too narrow",
        "    return NormalDist().cdf(-t_quantile(n_clusters - 1) * math.sqrt(n_clusters / (n_clusters - 1)))",
        "    return 0.025",
        "tests/scoring/test_intervals.py::test_the_fewer_the_clusters_the_further_out_the_percentiles",
    ),
    Fault(
        "the joint score ignores how far an insight is covered",
        "    joint = by_label * (citation.f1 if citation else 0.0) if gold else None",
        "    joint = (citation.f1 if citation else 0.0) if gold else None",
        "tests/scoring/test_summhay.py::test_the_worked_example_of_figure_2",
    ),
    Fault(
        "archived judges count in results",
        '    return Q(**{f"{path}archived_at": None})',
        "    return Q()",
        "tests/annotation/test_rating_results.py::test_only_first_answers_of_judges_that_are_not_archived_count",
    ),
    Fault(
        "excluded sessions count in results",
        "        return self.session.state in clock.HANDED_IN and not self.is_excluded",
        "        return self.session.state in clock.HANDED_IN",
        "tests/annotation/test_results.py::test_an_excluded_session_leaves_the_figures_and_stays_in_the_table",
    ),
    Fault(
        "a cell of a CSV can be run as a formula",
        "    if isinstance(value, str) and value.startswith(FORMULA_STARTS):",
        "    if isinstance(value, str) and value == FORMULA_STARTS:",
        "tests/site/test_audit_and_system.py::test_the_download_holds_the_filtered_rows_and_guards_formulas",
    ),
    Fault(
        "texts of documents are HTML where passages are marked",
        'data-span tabindex="-1"{% endif %}>{{ piece.text }}</mark',
        'data-span tabindex="-1"{% endif %}>{{ piece.text|safe }}</mark',
        "tests/annotation/test_verification_work.py::test_texts_are_text_and_never_markup",
    ),
    Fault(
        "passwords can be guessed without end",
        "AXES_FAILURE_LIMIT = 8",
        "AXES_FAILURE_LIMIT = 8_000",
        "tests/site/test_login.py::test_after_too_many_wrong_passwords_even_the_right_one_has_to_wait",
    ),
    Fault(
        "other sites can send forms in the name of who is logged in",
        '    "django.middleware.csrf.CsrfViewMiddleware",\n',
        "",
        "tests/annotation/test_session_endpoints.py::test_a_post_needs_the_token_against_forgery_and_a_get_changes_nothing[draft]",
    ),
    Fault(
        "a file whose ids are not unique is imported",
        '            self.problems.error("duplicate_id", where, name,',
        '            self.problems.warning("duplicate_id", where, name,',
        "tests/benchmarks/io/test_summhay.py::test_a_bad_row_is_refused_with_a_sentence_that_names_row_field_and_what_was_expected[subtopics/1/insights/0/insight_id]",
    ),
    Fault(
        "an undo takes back what was taken back already",
        "    return rows.filter(undoes=None, undone_by=None)",
        "    return rows.filter(undoes=None)",
        "tests/annotation/test_label_acts.py::test_undo_walks_back_through_the_answers_of_all_items_in_order_of_time",
    ),
    Fault(
        "tasks are dealt to whoever has most",
        "            shares.give(min(free, key=lambda person: shares.work[person]), pk)",
        "            shares.give(max(free, key=lambda person: shares.work[person]), pk)",
        "tests/annotation/test_dealing.py::test_four_people_get_as_many_key_points_of_the_paper",
    ),
    Fault(
        "the name of an erased person stays in the audit log",
        '    _forget_in_audit("summhay_site.user", str(tombstone.user), "Erased person")\n',
        "",
        "tests/site/test_erasure.py::test_the_audit_log_forgets_the_name_of_an_erased_account",
    ),
    Fault(
        "another repeat of a question gets the answer of the first",
        "    content = json.dumps([body, base_url, repeat], sort_keys=True, ensure_ascii=False)",
        "    content = json.dumps([body, base_url], sort_keys=True, ensure_ascii=False)",
        "tests/benchmarks/engine/test_model_runs.py::test_repeats_are_asked_for_themselves[none]",
    ),
    Fault(
        "an exported haystack lacks the lines that verdicts link",
        "row.insight.key, row.coverage, tuple(row.lines), raw=row.raw",
        "row.insight.key, row.coverage, (), raw=row.raw",
        "tests/benchmarks/io/test_writers.py::test_what_comes_out_is_what_went_in",
    ),
    Fault(
        "researchers see what belongs to other research groups",
        "for pk, is_own in is_member.items() if is_own)",
        "for pk, is_own in is_member.items())",
        "tests/site/test_research_groups_at_work.py::test_researchers_see_annotators_of_their_groups_of_none_and_of_their_studies",
    ),
    Fault(
        "annotators answer the label tasks of others",
        'return _task("a.user_id = %s AND t.uid = %s", user_id, _uuid(uid))',
        'return _task("t.uid = %s", _uuid(uid))',
        "tests/annotation/test_verification_work.py::test_only_the_persons_own_tasks_open",
    ),
    Fault(
        "researchers open pages and files of studies that are not theirs",
        "studies = Study.objects.for_user(request.user).filter(kind__in=kinds)",
        "studies = Study.objects.filter(kind__in=kinds)",
        "tests/audit/test_access.py::test_what_is_anothers_is_not_there",
    ),
    Fault(
        "a text that somebody else wrote too is deleted with a person's work",
        'set(written.values_list("pk", flat=True)) - shared',
        'set(written.values_list("pk", flat=True))',
        "tests/annotation/people/test_removal.py::test_a_text_that_somebody_else_wrote_stays_and_no_trace_of_the_other",
    ),
    Fault(
        "an erased person comes back with a backup",
        "    enlist(tombstone)\n",
        "",
        "tests/annotation/people/test_removal.py::test_nothing_is_erased_where_the_list_cannot_be_written",
    ),
    Fault(
        "texts of excluded sessions count in where people take their content from",
        'return finals.exclude(session__in=excluded).exclude(summary__text="")',
        'return finals.exclude(summary__text="")',
        "tests/annotation/test_context_report.py::test_people_by_the_order_on_their_page",
    ),
    Fault(
        "a later answer of a judge takes the place of its first",
        "SummaryRating.objects.counted().filter(repeat=0, summary__in=place, aspect__in=aspects)",
        "SummaryRating.objects.counted().filter(summary__in=place, aspect__in=aspects)",
        "tests/annotation/test_rating_results.py::test_only_first_answers_of_judges_that_are_not_archived_count",
    ),
    Fault(
        "a budget is lowered below what requests on their way may cost",
        "if budget <= (taken := account.settled + account.reserved):",
        "if budget <= (taken := account.settled):",
        "tests/benchmarks/engine/test_budgets.py::test_a_budget_below_what_requests_on_their_way_may_cost_is_refused",
    ),
    Fault(
        "the silence before a session pauses itself late counts as time of work",
        "_close(settled, at=lease_end, state=State.PAUSED, reason=Reason.LEASE)",
        "_close(settled, at=t, state=State.PAUSED, reason=Reason.LEASE)",
        "tests/annotation/test_clock_cases.py::test_a_silent_session_pauses_itself_at_the_end_of_its_lease_and_time_never_runs_back",
    ),
    Fault(
        "a snapshot lacks what was saved in the millisecond of its mark",
        "bisect_right(revisions, mark_ms, key",
        "bisect_right(revisions, mark_ms - 1, key",
        "tests/annotation/test_clock_cases.py::test_a_second_save_in_the_millisecond_of_a_mark_is_not_missed",
    ),
    Fault(
        "of two labels that equally many people gave the first is the majority",
        "tied = (counts == best[:, None]).sum(axis=1) > 1",
        "tied = (counts == best[:, None]).sum(axis=1) > 2",
        "tests/annotation/test_figures.py::test_the_majority_leaves_ties_out_and_counts_them",
    ),
    Fault(
        "whether a point is key counts though it is not in the text",
        "after: Ints = np.where(grounded == NO, MISSING, key_point)",
        "after: Ints = np.where(grounded == MISSING, MISSING, key_point)",
        "tests/scoring/test_retention.py::test_a_no_masks_the_second_judgment_whatever_was_stored",
    ),
    Fault(
        "the search counts the hits on a page as all there are",
        "        return self.page.paginator.count",
        "        return len(self.rows)",
        "tests/benchmarks/test_corpora_pages.py::test_the_search_shows_the_first_of_each_kind_and_pages_of_one",
    ),
    Fault(
        "another text under an operation that was used is taken for a replay",
        "    if stored.sha256 != sha256_of(draft.text):\n        # Another",
        "    if stored.base_rev != draft.base_rev:\n        # Another",
        "tests/annotation/test_drafting.py::test_another_text_under_a_used_operation_is_a_conflict_and_is_kept_once",
    ),
    Fault(
        "a late text that was declined after all still counts",
        "        if held.row.late_text_id == revision.pk:\n            held.put(late_text_id=None)\n",
        "",
        "tests/annotation/test_late_texts.py::test_decisions_are_audited_and_can_be_taken_back",
    ),
    Fault(
        "the key of a server is shown where the server repeats it",
        'return replace(outcome, message=outcome.message.replace(key, "…"))',
        "return outcome",
        "tests/retrieval/test_servers.py::test_the_key_stands_in_no_message",
    ),
)

NAMED_TESTS = frozenset(fault.caught_by for fault in FAULTS)
"""The tests that catch them, which the gate runs."""
