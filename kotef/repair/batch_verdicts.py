"""Verdicts on a batch of candidates, and the candidates that must run again."""

from kotef.repair.session import WorkerAnswer


class Screening:
    """Who in a batch was judged, and who has to be run again."""

    def __init__(self, answer: WorkerAnswer, count: int) -> None:
        self._words = words = answer.words
        self.done = [word[1] for word in words if word[0] in {"end", "invalid"}]
        self.late = {word[1] for word in words if word[0] == "time"}
        """Out of time; what ended its process counts too."""
        begun = [word[1] for word in words if word[0] == "begin"]
        stopped = next((word[1] for word in words if word[0] == "stop"), count - 1)
        self.polluted = ["control", False] in words or (answer.ended != "done" and begun[-1:] == [count])
        if answer.ended != "done" and begun and begun[-1] not in self.done:
            stopped = begun[-1]
            self.done.append(stopped)
            self.late |= {stopped} if answer.ended == "time" else set()
        self.unbegun = answer.ended != "done" and not begun
        """Whether it did not even come to the first: no candidate is to blame."""
        if self.unbegun:
            stopped = -1
        self.promising = [number for number in self.done if number not in self.late and self.all_passed(number)]
        self.done = [number for number in self.done if number not in self.promising]
        self.repeat = list(range(stopped + 1, count))
        if self.polluted:
            self.done, self.promising, self.repeat = [], [], list(range(count))

    def all_passed(self, number: int) -> bool:
        """Whether a failing test passed with it, and none failed that was run."""
        own = [word[0] for word in self._words if word[0] in {"passed", "failed"} and word[1] == number]
        return bool(own) and "failed" not in own
