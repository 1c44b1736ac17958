"""The simulator's engine in numba: nothing but njit functions, arrays and int64 nanoseconds.

One file, one idea; functions carry the names of the kernel functions they stand for:

state       the field table and the opaque State          events, rng, tree, record   queue, random streams, treap, log
loop        pop and dispatch                               core        __schedule, the switch, what a program does
tick        ticks and hrticks                              entity      update_curr, one level's enqueue and dequeue
eevdf       6.6 and later                                  cfs61       6.1
group       walks over the hierarchy                       wakeup, balance   wake-ups, placement, newidle pull
runtime     a cfs_rq's local runtime                       bandwidth   pool, timers, distribution, limits
throttle    who stops whom                                 unthrottle  and how they come back
smt         speed beside siblings                          program     the steps of a task
resched     who has to reschedule
"""
