"""Options that name the address of a collector."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from nomadp.protocol.address import Address

__all__ = ["address_of", "insecure_option"]

insecure_option = click.option(
    "--insecure",
    is_flag=True,
    help="Allow unencrypted http:// to another machine; anyone in between can read the token.",
)


def address_of(url: str, *, insecure: bool) -> "Address":
    """The address in a URL; an error suggests --insecure where that would help."""
    from nomadp.errors import TaskRefused
    from nomadp.protocol.address import Address

    try:
        return Address.parse(url, insecure=insecure)
    except TaskRefused as refusal:
        if insecure or not url.startswith("http://"):
            raise
        raise TaskRefused(f"{refusal}; or add --insecure", code=refusal.code) from None
