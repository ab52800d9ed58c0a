"""Run the whole file: the error names this file and the line that made it."""


def average(numbers):
    return sum(numbers) / len(numbers)


print(average([1, 2, 3]))
average([])
