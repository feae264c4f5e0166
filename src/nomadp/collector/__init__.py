"""The server that devices report to: it keeps reports, counts them, and answers analysts.

It needs the extra ``collector``. Whatever a request says is untrusted, and nothing that tells
senders apart is kept: no address, no user agent, no moment finer than the task's epoch.
"""

__all__: list[str] = []
