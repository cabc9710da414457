"""The trial before label work: worked examples on the page of the work, with the answer explained after each."""
