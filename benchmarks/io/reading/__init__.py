"""How bytes become values, strictly, and how what is wrong with them is said."""
