"""What a person has worked and earned in all studies: jobs of label work, the sum, the last days."""
