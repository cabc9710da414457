"""Pages of judges and of the runs of models: settings, costs, progress and answers."""
