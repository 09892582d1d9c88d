"""Tables turned on their side."""


def columns_of(table):
    """The columns of a table of equally long rows, as rows."""
    if not table:
        return []
    turned = []
    for column in range(len(table)):
        turned.append([row[column] for row in table])
    return turned


def column_sums(table):
    """One sum per column."""
    return [sum(column) for column in columns_of(table)]
