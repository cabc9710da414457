"""The people's end of the results wing: figures of studies as workers compute them, and their files."""
