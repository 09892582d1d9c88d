"""An expected member of an enumeration is made another one of the same, wherever it is declared."""

import pytest

from kotef.integrity.probes.oracles import WrongAnswer, wrong_answers

RUST = "use shop::{status, Status};\n\n#[test]\nfn test_paid() {\n    assert_eq!(status(true), Status::Paid);\n}\n"
RUST_ENUM = "/// Paid, or not.\npub enum Status {\n    #[default]\n    Open, // Shut\n    Paid,\n    Partly(u32),\n    Owed { by: u32 },\n}\n"
JAVA = "class ShopTest {\n  @Test\n  void testPaid() {\n    assertEquals(Status.PAID, Shop.status());\n  }\n}\n"
JAVA_ENUM = "enum Status {\n  OPEN(1), PAID(2);\n\n  int code;\n  Status(int code) { this.code = code; }\n}\n"
TYPESCRIPT = 'test("paid", () => {\n  expect(status()).toBe(Status.Paid);\n});\n'
GO = "package shop\n\nfunc TestPaid(t *testing.T) {\n\tif got := Of(); got != StatusPaid {\n\t\tt.Fatal(got)\n\t}\n}\n"
GO_CONST = "package shop\n\nconst (\n\tLimit = 3\n)\n\nconst (\n\tStatusOpen Status = iota // 0\n\t_\n\tStatusPaid\n)\n"
C = '#include "shop.h"\n\nvoid test_paid(void) {\n    TEST_ASSERT_EQUAL_INT(PAID, status());\n}\n'
CPP = '#include "shop.h"\n\nTEST(Shop, Paid) {\n    EXPECT_EQ(Status::Paid, status());\n}\n'


def found(path: str, text: str, test: str, files: dict[str, str]) -> list[WrongAnswer]:
    known = {name: content.encode() for name, content in files.items()}
    answers = wrong_answers(path, text.encode(), f"{path}::{test}", seed=1, read=known.get, paths=known)
    return [answer for answer in answers if answer.kind == "wrapped"]


@pytest.mark.parametrize(
    ("path", "text", "test", "files", "now"),
    [
        ("tests/shop.rs", RUST, "test_paid", {"src/status.rs": RUST_ENUM}, "assert_eq!(status(true), Status::Open);"),
        ("test/ShopTest.java", JAVA, "testPaid", {"src/Status.java": JAVA_ENUM}, "assertEquals(Status.OPEN, Shop.status());"),
        ("shop.test.ts", TYPESCRIPT, "paid", {"shop.ts": "export enum Status { Open = 'open', Paid = 'paid' }\n"}, "expect(status()).toBe(Status.Open);"),
        ("shop_test.go", GO, "TestPaid", {"shop.go": GO_CONST}, "if got := Of(); got != StatusOpen {"),
        ("test_shop.c", C, "test_paid", {"shop.h": "typedef enum { OPEN = 1, PAID = 4 } status_t;\n"}, "TEST_ASSERT_EQUAL_INT(OPEN, status());"),
        ("shop_test.cpp", CPP, "Paid", {"shop.h": "enum class Status : int { Open, Paid };\n"}, "EXPECT_EQ(Status::Open, status());"),
    ],
    ids=["rust", "java", "typescript", "go", "c", "c++"],
)  # fmt: skip
def test_another_member_is_expected(path: str, text: str, test: str, files: dict[str, str], now: str) -> None:
    assert [answer.now for answer in found(path, text, test, files)] == [now]


@pytest.mark.parametrize(
    "declared",
    [
        "pub enum Other { Paid, Open }\n",
        "pub enum Status { Paid }\n",
        "pub enum Status { Paid, Partly(u32) }\n",
        "// enum Status { Paid, Open }\n",
        "pub fn enum_of() { let s = Status; }\nenum Status;\n",
        "enum Status { Paid, Open",
    ],
    ids=["another enum", "one member", "others have contents", "a comment", "no body", "cut off"],
)
def test_nothing_is_made_of_what_has_no_other_member(declared: str) -> None:
    assert not any(
        "Status" in answer.now for answer in found("tests/shop.rs", RUST, "test_paid", {"src/lib.rs": declared})
    )


def test_the_file_named_like_the_enumeration_is_read_first() -> None:
    read: list[str] = []
    files = {f"src/m{number}.rs": b"// enum\n" for number in range(200)} | {"src/deep/er/status.rs": RUST_ENUM.encode()}

    def reading(path: str) -> bytes | None:
        read.append(path)
        return files.get(path)

    answers = wrong_answers(
        "tests/shop.rs", RUST.encode(), "tests/shop.rs::test_paid", seed=1, read=reading, paths=files
    )
    assert any("Status::Open" in answer.now for answer in answers)
    assert "src/m1.rs" not in read
