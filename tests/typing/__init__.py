"""What type checkers, and editors by them, know of programs."""
