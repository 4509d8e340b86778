"""Expenses: what a team spends, said in the chat and kept as a ledger."""
