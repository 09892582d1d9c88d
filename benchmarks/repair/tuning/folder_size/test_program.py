from program import big_folders, folder_size

HOME = {"notes": 10, "music": {"a": 400, "b": 300}, "pictures": {"old": {"x": 900}, "now": {"y": 5}}}


def test_file():
    assert folder_size(12) == 12


def test_empty_folder():
    assert folder_size({}) == 0


def test_all():
    assert folder_size(HOME) == 1615


def test_none_is_big():
    assert big_folders(HOME, 5000) == []


def test_files_are_not_folders():
    assert big_folders({"huge": 9999}, 1) == []


def test_top_level():
    assert big_folders({"a": {"x": 5}, "b": {"y": 7}}, 4) == ["/a", "/b"]


def test_below_each_other():
    assert big_folders(HOME, 800) == ["/pictures", "/pictures/old"]


def test_small_limit():
    assert big_folders(HOME, 4) == ["/music", "/pictures", "/pictures/now", "/pictures/old"]
