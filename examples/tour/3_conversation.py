"""Run the whole file: the panel asks for the answers that input() waits for."""

name = input("What is your name? ") or "nobody"
print(f"Hello, {name}.")

while True:
    answer = input("How many stars would you like? (a number) ")
    if answer.isdigit():
        break
    print(f"{answer!r} is not a number.")

"★" * int(answer)
