"""The studies, one a notebook. Functions `df_*` return tables; their docstrings list every column and its unit."""
