"""What a car park charges."""

FREE_MINUTES = 15
HOURLY = 250
DAILY_CAP = 1800


def parking_fee(minutes):
    """Cents for a stay: a quarter of an hour is free, started hours count whole, a day is capped."""
    if minutes < FREE_MINUTES:
        return 0
    days, rest = divmod(minutes, 24 * 60)
    hours = (rest + 59) // 60
    return days * DAILY_CAP + min(hours * HOURLY, DAILY_CAP)
