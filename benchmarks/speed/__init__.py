"""Parts of the benchmark of the models' speed."""
