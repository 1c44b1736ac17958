"""The steps of a task's program."""

from ..channels import Read, Write
from ..steps import (
    ALL,
    Affinity,
    Barrier,
    KernelSection,
    Mark,
    Repeat,
    Run,
    Sample,
    Sleep,
    Spin,
    Step,
    Timer,
    Until,
    Wait,
    Wake,
    Yield,
)
from . import hierarchy, limbo, placement, speed
from .channel import Call
from .events import Source
from .rng import RUN_LIKE, SLEEP_LIKE
from .state import Flag, TaskRecord, TaskState

# far more steps at one instant than any sensible program has
MAX_INSTANT_STEPS = 1_000_000


def new_frames(steps: tuple[Step, ...]) -> list:
    """Return the loop stack of a program at its beginning: lists of [steps, place, rounds still to do or None]."""
    return [[steps, 0, 1]]


def next_step(frames: list) -> Step | None:
    """Return the next step that is not a loop, None at the end of the program."""
    while frames:
        frame = frames[-1]
        steps, place, rounds = frame
        if place < len(steps):
            frame[1] += 1
            if not isinstance(steps[place], Repeat):
                return steps[place]
            frames.append([steps[place].steps, 0, steps[place].times])
        elif rounds is None or rounds > 1:
            frame[1] = 0
            frame[2] = None if rounds is None else rounds - 1
        else:
            frames.pop()
    return None


def draw(task: TaskRecord, duration, purpose: int) -> int:
    """Return the duration of a step in ns; a constant draws nothing."""
    return duration.draw(task.streams[purpose].draw()) if duration.is_random else duration.low_ns


# ---- running ---------------------------------------------------------------------------------------------------------


def end_step(m, cpu):
    """The running task's step has ended, or in the midst of user work it is to be throttled."""
    m.this_cpu = cpu.number
    task = cpu.curr
    speed.settle(m, cpu)
    if task.throttle_work and task.in_user_step and speed.has_work(m, task):
        limbo.returns_to_user(m, cpu)
        # whatever came of it: the step goes on when the task does
        speed.arm_step(m, cpu)
        return
    task.work, task.spin_until = 0, None
    run_program(m, task)


def run_program(m, task: TaskRecord):
    """Do steps of the running task until one takes time, or the task blocks, yields or exits.

    Each step that takes no time, and each kernel section, is a system call: the task returns to user space after it.
    """
    task.fetch = False
    for _ in range(MAX_INSTANT_STEPS):
        if task.batch:
            goes_on = wake_one(m, task)
        elif task.call is not None:
            goes_on = go_on_with_call(m, task, task.call)
        else:
            if not limbo.returns_to_user(m, m.cpus[task.cpu]):
                task.fetch = True
                m.queue.cancel(Source.STEP, task.cpu)
                return
            step = next_step(task.frames)
            if step is None:
                exit_task(m, task)
                return
            goes_on = DO[type(step)](m, task, step)
        if not goes_on:
            return
    raise RuntimeError(f"task {task.spec.name}: a million steps at {m.now} ns")


def block(m, task: TaskRecord):
    """The running task blocks, and leaves its queue at once."""
    task.state = TaskState.BLOCKED
    m.log("block", task.cpu, task.index, 0)
    hierarchy.dequeue_task(m, task, Flag.SLEEP)
    give_up_cpu(m, task)


def exit_task(m, task: TaskRecord):
    """The running task has come to its end."""
    task.state = TaskState.EXITED
    task.end_ns = m.now
    m.log("exit", task.cpu, task.index, 0)
    hierarchy.dequeue_task(m, task, Flag.SLEEP | Flag.SPECIAL)
    give_up_cpu(m, task)


def give_up_cpu(m, task: TaskRecord):
    """The program goes on when the task next runs."""
    task.fetch = True
    m.cpus[task.cpu].need_resched = True
    m.queue.cancel(Source.STEP, task.cpu)


def begin_work(m, task: TaskRecord, ns: int, in_kernel: bool):
    """The running task has work to do."""
    task.work = ns * speed.PPM
    task.in_kernel = in_kernel
    speed.arm_step(m, m.cpus[task.cpu])


# ---- one function a kind of step; each returns whether the program goes on at once -----------------------------------


def do_run(m, task: TaskRecord, step: Run) -> bool:
    """User work."""
    begin_work(m, task, draw(task, step.duration, RUN_LIKE), in_kernel=False)
    return False


def do_kernel(m, task: TaskRecord, step: KernelSection) -> bool:
    """Kernel work."""
    begin_work(m, task, draw(task, step.duration, RUN_LIKE), in_kernel=True)
    return False


def do_spin(m, task: TaskRecord, step: Spin) -> bool:
    """Look at the clock until the time has come."""
    task.spin_until = m.now + draw(task, step.duration, RUN_LIKE)
    begin_work(m, task, 0, in_kernel=False)
    return False


def do_sleep(m, task: TaskRecord, step: Sleep) -> bool:
    """Block for a time."""
    ns = draw(task, step.duration, SLEEP_LIKE)
    m.queue.set(Source.TASK, task.index, m.now + ns + m.wake_late)
    block(m, task)
    return False


def do_timer(m, task: TaskRecord, step: Timer) -> bool:
    """Block until the next activation of this timer of the task, unless it is past."""
    done = task.activations.get(step, 0)
    task.activations[step] = done + 1
    return block_until(m, task, task.spec.start_ns + step.offset_ns + done * step.period_ns)


def do_until(m, task: TaskRecord, step: Until) -> bool:
    """Block until a time, unless it is past."""
    return block_until(m, task, task.spec.start_ns + step.after_ns)


def block_until(m, task: TaskRecord, activation: int) -> bool:
    """Block until a time, unless it is past; the task remembers it."""
    task.stamp = activation
    if activation <= m.now:
        return True
    m.queue.set(Source.TASK, task.index, activation + m.wake_late)
    block(m, task)
    return False


def do_yield(m, task: TaskRecord, step: Yield) -> bool:
    """sched_yield(): the program goes on when the task is picked again."""
    m.policy.yield_task(m, task)
    give_up_cpu(m, task)
    return False


def do_wait(m, task: TaskRecord, step: Wait) -> bool:
    """Take a post, or block until woken."""
    posts = m.posts.setdefault(step.name, [])
    if posts:
        task.stamp = posts.pop(0)
        return True
    waiters = m.waiters.setdefault(step.name, [])
    waiters.insert(0 if step.order == "lifo" else len(waiters), task)
    block(m, task)
    return False


def do_wake(m, task: TaskRecord, step: Wake) -> bool:
    """Begin to wake waiters."""
    waiters = m.waiters.setdefault(step.name, [])
    task.batch = max(1, len(waiters)) if step.n == ALL else step.n
    task.batch_step, task.batch_began = step, m.now
    return True


def wake_one(m, task: TaskRecord) -> bool:
    """Wake the next waiter, who may have come since the batch began; with a cost the waker then has kernel work to do.

    While nobody waits, up to `keep` posts are remembered for those who will.
    """
    step = task.batch_step
    waiters, posts = m.waiters[step.name], m.posts.setdefault(step.name, [])
    task.batch -= 1
    if not waiters:
        if len(posts) < step.keep:
            posts.append(task.batch_began)
        return True
    waiter = waiters.pop(0)
    waiter.stamp = task.batch_began if step.n == ALL else m.now
    placement.wake_task(m, waiter)
    if not step.cost_ns:
        return True
    begin_work(m, task, step.cost_ns, in_kernel=True)
    return False


def do_barrier(m, task: TaskRecord, step: Barrier) -> bool:
    """Block until n tasks have come; the last one wakes the others."""
    arrived = m.barriers.setdefault(step.name, [])
    if len(arrived) + 1 < step.n:
        arrived.append(task)
        block(m, task)
        return False
    m.barriers[step.name] = []
    for waiter in arrived:
        placement.wake_task(m, waiter)
    return True


def do_affinity(m, task: TaskRecord, step: Affinity) -> bool:
    """Change the task's own CPUs; when it is moved the program goes on there."""
    moves = placement.set_allowed(m, task, step.cpus)
    task.fetch = moves
    return not moves


def do_mark(m, task: TaskRecord, step: Mark) -> bool:
    """Remember now."""
    task.stamp = m.now
    return True


def do_sample(m, task: TaskRecord, step: Sample) -> bool:
    """Record how long ago that was."""
    value = m.now - task.stamp - step.offset_ns
    task.samples.append(value)
    m.log("sample", task.cpu, task.index, value)
    return True


def do_call(m, task: TaskRecord, step: Read | Write) -> bool:
    """A system call on a channel begins."""
    task.call = Call(m.channels[step.channel], step, isinstance(step, Write), step.n)
    task.in_kernel = True
    return True


def go_on_with_call(m, task: TaskRecord, call: Call) -> bool:
    """Wait until a message can be moved, work for a time, then move them all, waiting where need be."""
    channel = call.channel
    if not call.worked:
        if not channel.ready(call):
            channel.sleep(task, call)
            block(m, task)
            return False
        call.worked, call.woken_in_vain = True, False
        begin_work(m, task, draw(task, call.step.cost, RUN_LIKE) * call.step.n, in_kernel=True)
        return False
    while call.left:
        if not channel.ready(call):
            channel.sleep(task, call)
            block(m, task)
            return False
        call.woken_in_vain = False
        for waiter in channel.move(call):
            placement.wake_task(m, waiter)
    task.call = None
    return True


DO = {
    Run: do_run,
    KernelSection: do_kernel,
    Spin: do_spin,
    Sleep: do_sleep,
    Timer: do_timer,
    Until: do_until,
    Yield: do_yield,
    Wait: do_wait,
    Wake: do_wake,
    Barrier: do_barrier,
    Affinity: do_affinity,
    Mark: do_mark,
    Sample: do_sample,
    Read: do_call,
    Write: do_call,
}
