"""What an op is: its signature, its rules, and the one door that every op call takes."""
