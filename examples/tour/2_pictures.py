"""Select everything and run it: an object that knows how to draw itself is shown as a picture.

`display` shows it where it stands; the last expression of a run is shown without it.
"""

from math import cos, pi, sin


class Rose:
    """A curve r = cos(k·θ). Any object with a _repr_html_ (or _repr_png_, _repr_svg_ …) is shown this way."""

    def __init__(self, petals, colour="#d6336c"):
        self.petals, self.colour = petals, colour

    def _repr_html_(self):
        angles = [step * 2 * pi / 720 for step in range(721)]
        points = [(r * cos(a), r * sin(a)) for a in angles for r in [100 * cos(self.petals * a)]]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        return (
            '<svg width="240" height="240" viewBox="-105 -105 210 210" role="img">'
            f'<polyline points="{path}" fill="none" stroke="{self.colour}" stroke-width="1.5"/></svg>'
        )


display(Rose(5))

# With matplotlib installed for this interpreter, its figures appear as they are.
try:
    import matplotlib.pyplot as plt
except ImportError:
    print("matplotlib is not installed here; the rose above needs nothing.")
else:
    angles = [step * 2 * pi / 720 for step in range(721)]
    for k in (2, 3, 5):
        plt.polar(angles, [cos(k * a) for a in angles])
    plt.show()
