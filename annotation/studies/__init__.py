"""What all kinds of study share: setting up, members, dealing, guidelines, consent, exposure, and their pages."""
