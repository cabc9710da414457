"""The packs that come with the program, a folder each."""
