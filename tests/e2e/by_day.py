"""The stories of the gate; all others run at night."""

BY_DAY = {
    "writing: saving, offline, two tabs, the end, search and citations": """
        test_a_session_outlives_its_server_and_ends_as_a_curve
        test_the_newer_of_two_tabs_writes_and_the_older_can_take_over_again
        test_text_typed_offline_arrives_once_the_line_is_back
        test_search_copying_pasting_and_citing
        test_a_lost_login_costs_no_text
        test_at_the_deadline_the_last_words_count
        test_all_that_was_typed_offline_before_the_end_arrives_and_is_told_of
        test_what_is_submitted_is_what_is_on_the_screen_also_after_a_submit_that_was_broken_off
        test_the_editor_helps_as_the_scoring_reads
        test_a_session_reads_odd_signs_and_outlives_what_browsers_do
        test_a_document_is_found_cited_and_left_again_by_keys
    """,
    "label work, a story for each kind, and its queue": """
        test_two_people_link_by_keyboard_and_a_researcher_reads_it
        test_two_people_verify_by_keyboard_and_one_comes_back_to_the_middle_of_an_item
        test_two_people_validate_a_judge_by_keyboard_and_the_researcher_sees_its_accuracy
        test_summaries_are_rated_by_digits_and_cited_documents_are_a_key_away
        test_ten_items_are_answered_without_a_connection_and_reach_the_server[linking-paul]
        test_the_next_item_is_there_at_once_and_no_answer_is_lost_or_put_on_another_item[verification]
        test_a_typed_comment_is_saved_when_its_item_its_page_or_its_tab_is_left
        test_a_passage_is_marked_without_covering_the_answer
        test_an_annotator_labels_and_writes_in_german
    """,
    "researchers: results, lists, decisions, systems, synthesis": """
        test_from_the_published_file_to_a_leaderboard_in_latex_with_people
        test_from_two_peoples_links_to_judges_beside_what_was_decided
        test_figures_are_marked_as_old_and_replaced_in_place
        test_a_chart_in_view_becomes_interactive_under_the_content_policy
        test_a_list_is_sorted_and_narrowed_in_place_and_back_leads_back
        test_a_run_is_started_watched_paused_cancelled_and_finished_in_the_browser
        test_five_pasted_documents_become_insights_and_a_linked_summary
    """,
    "who comes in, and what each role sees": """
        test_a_participant_follows_a_link_agrees_works_and_gets_the_code
        test_wanda_comes_in_without_a_password
        test_a_study_that_goes_to_a_group_is_found_by_its_members_only
        test_every_kind_of_page_is_accessible
        test_the_skip_link_comes_first_and_menus_work_by_keyboard
        test_a_page_that_finds_no_place_waits_and_then_logs_in_by_itself
        test_a_program_reads_and_scores_until_its_tokens_are_revoked
    """,
    "scripts and weight": """
        test_every_script_can_be_read_and_finds_what_it_imports
        test_the_page_of_a_session_is_light_and_its_files_are_kept_for_a_year
    """,
}
"""Names of stories, by what of the program they guard."""
