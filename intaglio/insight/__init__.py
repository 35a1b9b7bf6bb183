"""Looking at graphs and runs: text, NumPy programs, differences, pictures, profiles, reports."""
