"""People of studies: how they come, are reminded and leave, what is held of them, what they have earned."""
