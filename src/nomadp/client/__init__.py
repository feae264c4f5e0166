"""The client on a person's device: it keeps the ledger and the outbox, and sends reports."""

from nomadp.client.client import Client
from nomadp.client.ledger import Budget, TaskBudget
from nomadp.client.outbox import Receipt

__all__ = ["Client", "Receipt", "Budget", "TaskBudget"]
