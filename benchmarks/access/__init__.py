"""Who sees what (research groups) and who may change it (owners); permissions are in `benchmarks.web`."""
