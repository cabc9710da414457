"""Parts that all kinds of study share: setting up, members, dealing, guidelines, consent, exposure, pages."""
