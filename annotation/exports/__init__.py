"""Data on its way out: archives of studies, haystacks with people's texts, and the page of all of it."""
