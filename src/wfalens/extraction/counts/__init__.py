"""What is counted over texts, and how it adds up."""
