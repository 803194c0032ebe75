"""How well models do small pieces of real work: the tasks, the results, their summary and plot."""
