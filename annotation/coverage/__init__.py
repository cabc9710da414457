"""Labels of coverage, of linking studies and made elsewhere: collected, compared, and laid out as results."""
