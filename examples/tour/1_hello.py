"""Put the cursor on a line and press Ctrl+Alt+Enter; or select several lines first."""

planets = {"Mercury": 57.9, "Venus": 108.2, "Earth": 149.6, "Mars": 227.9}

# The value of the last expression is shown, as in a Python prompt.
max(planets, key=planets.get)

# The session stays: what you ran above is still known here.
for name, distance in planets.items():
    light_minutes = distance * 1e6 / 299_792 / 60
    print(f"{name:<8} {'·' * round(distance / 6)}☉ {light_minutes:4.1f} light minutes")

# A decorator belongs to its function: run with the cursor anywhere in these lines.
from functools import cache


@cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


fibonacci(100)
