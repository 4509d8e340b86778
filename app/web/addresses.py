"""Whose an address on the network is."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import IPv6Address, IPv6Network

NETWORK_BITS = 64


def network_of(address: str) -> str:
    """The address itself; of IPv6 the network of 64 bits: whoever has one address of it has all.

    What is no address stays as it is, as does one of IPv4, however it is written.
    """
    with suppress(ValueError):
        found = IPv6Address(address)
        # As a server that listens for both kinds is told those of IPv4.
        if found.ipv4_mapped is None:
            return str(IPv6Network((found, NETWORK_BITS), strict=False))
    return address
