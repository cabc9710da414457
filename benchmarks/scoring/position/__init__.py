"""Where texts take their content from (On Context Utilization in Summarization, section 3): pure, numpy only.

`source` indexes documents once and shows them in an order; `spread` finds what a text takes from them; `curves`
pools texts and tests; `late` compares scores where the content lies late; `rouge` scores a text against a
reference; `placing` puts these together.
"""
