"""What the exercise sheets ask: a module for each, with the tasks and what is given in them."""
