"""Run the whole file, then interrupt it: by the command, or the square beside the session in the tree."""

from itertools import count

kept = "still here"
for turn in count():
    pass

# After the interrupt, run these two lines: nothing of the session was lost.
print("stopped at turn", turn)
kept
