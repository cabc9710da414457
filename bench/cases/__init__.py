"""One case of measurements a module; see `bench.driver.Case`."""
