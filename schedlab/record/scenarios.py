"""The guest's scenarios: which groups and commands each case has, as the scripts in ``programs`` run them."""

#: Limits of three nested groups (us of quota, us of period), outermost first, and the command in the innermost.
NESTED = {
    "busy2_60_40_25": (((60_000, 100_000), (40_000, 100_000), (25_000, 100_000)), "busy -N L3 -n 2 -c 0,1"),
    "busy2_25_40_60": (((25_000, 100_000), (40_000, 100_000), (60_000, 100_000)), "busy -N L3 -n 2 -c 0,1"),
    "busy2_periods": (((30_000, 100_000), (15_000, 50_000), (6_000, 20_000)), "busy -N L3 -n 2 -c 0,1"),
    "pipe4_60_40_25": (((60_000, 100_000), (40_000, 100_000), (25_000, 100_000)), "pipe -N L3 -n 4 -w 100"),
    "pipe4_25_40_60": (((25_000, 100_000), (40_000, 100_000), (60_000, 100_000)), "pipe -N L3 -n 4 -w 100"),
    "pipe1_nowork": (((20_000, 100_000), (20_000, 100_000), (20_000, 100_000)), "pipe -N L3 -n 1 -w 0"),
}
LEVELS = ("/L1", "/L1/L2", "/L1/L2/L3")
#: Two groups of this limit, k busy threads each.
PAIR_LIMIT = (25_000, 100_000)
#: Core scheduling: CPUs of X's and Y's threads (None: all four), and whether each has a cookie of its own.
COOKIES = {
    "nocookie_1v1_samecore": ((0,), (1,), 1, 1, False),
    "cookie_1v1_samecore": ((0,), (1,), 1, 1, True),
    "cookie_2v2_samecore": ((0, 1), (0, 1), 2, 2, True),
    "cookie_2v1_samecore": ((0, 1), (0,), 2, 1, True),
    "cookie_2v2_free": (None, None, 2, 2, True),
    "cookie_3v3_free": (None, None, 3, 3, True),
    "cookie_4v4_free": (None, None, 4, 4, True),
}
