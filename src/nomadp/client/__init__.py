"""What runs on a person's device: the ledger, the outbox, and the one way to report."""

from nomadp.client.client import Client
from nomadp.client.ledger import Budget, TaskBudget
from nomadp.client.outbox import Receipt

__all__ = ["Client", "Receipt", "Budget", "TaskBudget"]
