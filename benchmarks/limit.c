/* The kernel of limit.py by hand, over the engine's records (layout.h, with the constants, is written by limit.py).
 *
 * Each function stands for the one of the same name in schedlab/engine: events, tree, eevdf, runtime, resched, rng.
 * Branches that this kernel cannot reach (CFS, pools with a quota, groups) are left out.
 */

#include "layout.h"

#define SOURCE_MASK ((INT64_C(1) << SOURCE_BITS) - 1)

typedef struct {
    sys_t *sys;
    ev_t *ev;
    lvl_t *lvl;
    cpu_t *cpu;
    task_t *task;
    stream_t *stream;
    table_t *table;
    se_t *se;
    rq_t *rq;
    tg_t *tg;
} state;

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a ^ b) < 0); }

/* ---- events.py ---- */

static void set_timer(const state *s, int64_t source, int64_t time)
{
    int64_t key = time < MAX_TIME ? (time << SOURCE_BITS) | source : NEVER;
    int64_t old = s->ev[source].key;
    if (key == old)
        return;
    s->ev[source].key = key;
    int64_t child = source, base = 0;
    for (int64_t level = 1; level < s->sys->nr_levels; level++) {
        int64_t parent = child >> 4;
        int64_t at = s->lvl[level].off + parent;
        int64_t least = s->ev[at].key;
        if (key < least) {
            s->ev[at].key = key;
        } else if (old == least) {
            const ev_t *block = &s->ev[base + (parent << 4)];
            key = block[0].key;
            for (int k = 1; k < 16; k++)
                key = min64(key, block[k].key);
            s->ev[at].key = key;
        } else {
            return;
        }
        old = least;
        child = parent;
        base = s->lvl[level].off;
    }
}

static inline int64_t first_key(const state *s) { return s->ev[s->lvl[s->sys->nr_levels - 1].off].key; }

/* ---- rng.py ---- */

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline int64_t draw(const state *s, uint64_t *stream, int64_t mean)
{
    *stream += 0x9E3779B97F4A7C15u;
    uint64_t u = mix(*stream);
    int64_t i = EXPONENTIAL * TABLE_SIZE + (int64_t)(u >> 52);
    int64_t f = (int64_t)((u >> 40) & 0xFFF);
    int64_t low = s->table[i].value;
    int64_t value = low + (((s->table[i + 1].value - low) * f) >> 12);
    return max64(1, (mean * value) >> 20);
}

/* ---- tree.py ---- */

static int pull_up(const state *s, int64_t e)
{
    se_t *n = &s->se[e];
    int64_t v = n->vruntime, sl = n->slice, most = sl;
    if (n->left >= 0) {
        v = min64(v, s->se[n->left].min_vruntime);
        sl = min64(sl, s->se[n->left].min_slice);
        most = max64(most, s->se[n->left].max_slice);
    }
    if (n->right >= 0) {
        v = min64(v, s->se[n->right].min_vruntime);
        sl = min64(sl, s->se[n->right].min_slice);
        most = max64(most, s->se[n->right].max_slice);
    }
    if (n->min_vruntime == v && n->min_slice == sl && n->max_slice == most)
        return 0;
    n->min_vruntime = v;
    n->min_slice = sl;
    n->max_slice = most;
    return 1;
}

static inline void replace(const state *s, int64_t q, int64_t parent, int64_t old, int64_t new)
{
    if (parent < 0)
        s->rq[q].root = new;
    else if (s->se[parent].left == old)
        s->se[parent].left = new;
    else
        s->se[parent].right = new;
    if (new >= 0)
        s->se[new].up = parent;
}

static void rotate_up(const state *s, int64_t q, int64_t e)
{
    int64_t parent = s->se[e].up, child;
    replace(s, q, s->se[parent].up, parent, e);
    if (s->se[parent].left == e) {
        child = s->se[e].right;
        s->se[parent].left = child;
        s->se[e].right = parent;
    } else {
        child = s->se[e].left;
        s->se[parent].right = child;
        s->se[e].left = parent;
    }
    if (child >= 0)
        s->se[child].up = parent;
    s->se[parent].up = e;
}

static void tree_insert(const state *s, int64_t q, int64_t e, int64_t key)
{
    se_t *n = &s->se[e];
    s->sys->seq++;
    int64_t prio = (int64_t)(mix((uint64_t)s->sys->seq) >> 2);
    n->key = key;
    n->prio = prio;
    n->left = n->right = -1;
    int64_t v = n->vruntime, sl = n->slice;
    n->min_vruntime = v;
    n->min_slice = sl;
    n->max_slice = sl;
    int64_t parent = -1, at = s->rq[q].root;
    int left = 1;
    while (at >= 0) {
        se_t *m = &s->se[at];
        if (v < m->min_vruntime)
            m->min_vruntime = v;
        if (sl < m->min_slice)
            m->min_slice = sl;
        if (sl > m->max_slice)
            m->max_slice = sl;
        parent = at;
        left = key < m->key;
        at = left ? m->left : m->right;
    }
    n->up = parent;
    if (parent < 0) {
        s->rq[q].root = e;
        return;
    }
    if (left)
        s->se[parent].left = e;
    else
        s->se[parent].right = e;
    while (parent >= 0 && prio > s->se[parent].prio) {
        rotate_up(s, q, e);
        pull_up(s, parent);
        pull_up(s, e);
        parent = n->up;
    }
}

static void tree_erase(const state *s, int64_t q, int64_t e)
{
    int64_t left, right;
    for (;;) {
        left = s->se[e].left;
        right = s->se[e].right;
        if (left < 0 || right < 0)
            break;
        rotate_up(s, q, s->se[left].prio > s->se[right].prio ? left : right);
    }
    int64_t parent = s->se[e].up;
    replace(s, q, parent, e, left >= 0 ? left : right);
    while (parent >= 0) {
        pull_up(s, parent);
        parent = s->se[parent].up;
    }
}

static inline int64_t tree_first(const state *s, int64_t q)
{
    int64_t e = s->rq[q].root;
    if (e < 0)
        return -1;
    while (s->se[e].left >= 0)
        e = s->se[e].left;
    return e;
}

/* ---- resched.py ---- */

static inline void resched_curr(const state *s, int64_t cpu)
{
    if (s->cpu[cpu].need_resched != 0)
        return;
    s->cpu[cpu].need_resched = 2;
    s->sys->resched_n++;
    if (cpu < s->sys->resched_min)
        s->sys->resched_min = cpu;
}

static inline void clear_need_resched(const state *s, int64_t cpu)
{
    if (s->cpu[cpu].need_resched == 2)
        s->sys->resched_n--;
    s->cpu[cpu].need_resched = 0;
}

static inline int64_t next_resched(const state *s)
{
    if (s->sys->resched_n == 0) {
        s->sys->resched_min = s->sys->nr_cpus;
        return -1;
    }
    int64_t cpu = s->sys->resched_min;
    while (s->cpu[cpu].need_resched != 2)
        cpu++;
    s->sys->resched_min = cpu;
    return cpu;
}

/* ---- eevdf.py ---- */

static inline int64_t calc_delta_fair(int64_t delta, int64_t weight)
{
    return weight == NICE_0 ? delta : floor_div(delta * NICE_0, weight);
}

static inline int running(const state *s, int64_t curr) { return curr >= 0 && s->se[curr].on_rq != 0; }

static int64_t avg_vruntime(const state *s, int64_t q)
{
    rq_t *rq = &s->rq[q];
    int64_t v0 = rq->min_vruntime, total = rq->sum_vw, load = rq->sum_w, curr = rq->curr;
    if (running(s, curr)) {
        total += (s->se[curr].vruntime - v0) * s->se[curr].weight;
        load += s->se[curr].weight;
    }
    if (load == 0)
        return v0;
    int64_t shift = floor_div(total, load);
    rq->min_vruntime = v0 + shift;
    rq->sum_vw -= rq->sum_w * shift;
    return v0 + shift;
}

static int vruntime_eligible(const state *s, int64_t q, int64_t vruntime)
{
    const rq_t *rq = &s->rq[q];
    int64_t v0 = rq->min_vruntime, total = rq->sum_vw, load = rq->sum_w, curr = rq->curr;
    if (running(s, curr)) {
        total += (s->se[curr].vruntime - v0) * s->se[curr].weight;
        load += s->se[curr].weight;
    }
    return total >= (vruntime - v0) * load;
}

static inline int entity_eligible(const state *s, int64_t q, int64_t e)
{
    return vruntime_eligible(s, q, s->se[e].vruntime);
}

static void eevdf_enqueue(const state *s, int64_t q, int64_t e)
{
    int64_t weight = s->se[e].weight;
    s->rq[q].sum_vw += (s->se[e].vruntime - s->rq[q].min_vruntime) * weight;
    s->rq[q].sum_w += weight;
    tree_insert(s, q, e, s->se[e].deadline);
}

static void eevdf_dequeue(const state *s, int64_t q, int64_t e)
{
    int64_t weight = s->se[e].weight;
    s->rq[q].sum_vw -= (s->se[e].vruntime - s->rq[q].min_vruntime) * weight;
    s->rq[q].sum_w -= weight;
    tree_erase(s, q, e);
}

static int update_deadline(const state *s, int64_t q, int64_t e)
{
    se_t *se = &s->se[e];
    if (se->vruntime < se->deadline)
        return 0;
    if (se->custom_slice == 0)
        se->slice = s->sys->base_slice;
    se->deadline = se->vruntime + calc_delta_fair(se->slice, se->weight);
    avg_vruntime(s, q);
    return 1;
}

static void resched_if_expired(const state *s, int64_t q, int64_t curr, int expired)
{
    if (s->rq[q].nr == 1)
        return;
    if (!expired) {
        if (s->sys->preempt_short == 0 || s->se[curr].vlag == s->se[curr].deadline)
            return;
        if (entity_eligible(s, q, curr))
            return;
    }
    resched_curr(s, s->rq[q].cpu);
    if (s->rq[q].next == curr)
        s->rq[q].next = -1;
}

static void update_entity_lag(const state *s, int64_t q, int64_t e)
{
    se_t *se = &s->se[e];
    int64_t limit = calc_delta_fair(max64(2 * (int64_t)se->slice, s->sys->tick_ns), se->weight);
    int64_t lag = avg_vruntime(s, q) - se->vruntime;
    se->vlag = min64(max64(lag, -limit), limit);
}

static void place_entity(const state *s, int64_t q, int64_t e)
{
    se_t *se = &s->se[e];
    int64_t vruntime = avg_vruntime(s, q);
    if (se->custom_slice == 0)
        se->slice = s->sys->base_slice;
    int64_t weight = se->weight;
    if (s->rq[q].nr > 0) {
        int64_t load = s->rq[q].sum_w, curr = s->rq[q].curr;
        if (running(s, curr))
            load += s->se[curr].weight;
        if (load > 0)
            vruntime -= se->vlag * (load + weight) / load; /* C truncates as div_trunc does */
    }
    se->vruntime = vruntime;
    if (se->rel_deadline != 0) {
        se->deadline += vruntime;
        se->rel_deadline = 0;
        return;
    }
    se->deadline = vruntime + calc_delta_fair(se->slice, weight);
}

static int64_t pick_eevdf(const state *s, int64_t q)
{
    int64_t curr = s->rq[q].curr;
    if (curr >= 0 && s->se[curr].on_rq == 0)
        curr = -1;
    int64_t first = tree_first(s, q);
    if (s->rq[q].nr == 1)
        return curr >= 0 ? curr : first;
    if (curr >= 0 && !entity_eligible(s, q, curr))
        curr = -1;
    if (curr >= 0 && s->se[curr].vlag == s->se[curr].deadline)
        return curr;
    int64_t best = -1;
    if (first >= 0 && entity_eligible(s, q, first)) {
        best = first;
    } else {
        int64_t at = s->rq[q].root;
        while (at >= 0) {
            int64_t left = s->se[at].left;
            if (left >= 0 && vruntime_eligible(s, q, s->se[left].min_vruntime)) {
                at = left;
                continue;
            }
            if (entity_eligible(s, q, at)) {
                best = at;
                break;
            }
            at = s->se[at].right;
        }
    }
    if (best < 0 || (curr >= 0 && s->se[curr].deadline < s->se[best].deadline))
        best = curr;
    return best;
}

/* ---- runtime.py, entity.py ---- */

static int assign_cfs_rq_runtime(const state *s, int64_t q, int64_t target)
{
    int64_t g = s->rq[q].tg;
    int64_t grant = target - s->rq[q].runtime_remaining;
    s->tg[g].created += grant;
    s->rq[q].runtime_remaining += grant;
    s->rq[q].expires_seq = s->tg[g].refill_seq;
    return s->rq[q].runtime_remaining > 0;
}

static void account_cfs_rq_runtime(const state *s, int64_t q, int64_t delta)
{
    rq_t *rq = &s->rq[q];
    if (rq->runtime_enabled == 0)
        return;
    int64_t g = rq->tg;
    s->tg[g].charged += delta;
    int64_t remaining = rq->runtime_remaining - delta;
    if (s->sys->expire_local != 0 && remaining > 0 && rq->expires_seq != s->tg[g].refill_seq) {
        s->tg[g].expired += remaining;
        remaining = 0;
    }
    rq->runtime_remaining = remaining;
    if (remaining > 0 || rq->throttled != 0)
        return;
    if (!assign_cfs_rq_runtime(s, q, s->sys->bw_slice) && rq->curr >= 0)
        resched_curr(s, rq->cpu);
}

static void update_curr(const state *s, int64_t q)
{
    int64_t curr = s->rq[q].curr;
    if (curr < 0)
        return;
    se_t *se = &s->se[curr];
    int64_t delta = s->sys->now - se->exec_start;
    if (delta <= 0)
        return;
    se->exec_start = s->sys->now;
    se->sum_exec += delta;
    se->vruntime += calc_delta_fair(delta, se->weight);
    int expired = update_deadline(s, q, curr);
    account_cfs_rq_runtime(s, q, delta);
    resched_if_expired(s, q, curr, expired);
}

/* ---- limit.py ---- */

static void put_prev(const state *s, int64_t q, int64_t e)
{
    eevdf_enqueue(s, q, e);
    s->rq[q].curr = -1;
}

static void set_next(const state *s, int64_t q, int64_t e)
{
    eevdf_dequeue(s, q, e);
    s->se[e].vlag = s->se[e].deadline;
    s->se[e].exec_start = s->sys->now;
    s->se[e].prev_sum_exec = s->se[e].sum_exec;
    s->rq[q].curr = e;
}

static void schedule(const state *s, int64_t cpu)
{
    s->sys->this_cpu = cpu;
    clear_need_resched(s, cpu);
    int64_t prev = s->rq[cpu].curr, now = s->sys->now;
    if (prev >= 0) {
        update_curr(s, cpu);
        s->task[prev].work -= now - s->cpu[cpu].work_stamp;
    }
    s->cpu[cpu].work_stamp = now;
    int64_t task = s->rq[cpu].nr > 0 ? pick_eevdf(s, cpu) : -1;
    if (task != prev) {
        if (prev >= 0)
            put_prev(s, cpu, prev);
        if (task >= 0)
            set_next(s, cpu, task);
    }
    set_timer(s, s->sys->src_cpu + cpu, task >= 0 ? now + max64(0, s->task[task].work) : NEVER);
}

static void finish(const state *s, int64_t cpu)
{
    s->sys->this_cpu = cpu;
    set_timer(s, s->sys->src_cpu + cpu, NEVER);
    int64_t task = s->rq[cpu].curr;
    update_curr(s, cpu);
    update_entity_lag(s, cpu, task);
    s->se[task].on_rq = 0;
    s->rq[cpu].load -= s->se[task].weight;
    s->rq[cpu].nr--;
    s->rq[cpu].curr = -1;
    int64_t nap = draw(s, &s->stream[task].rng_sleep, SLEEP_NS);
    set_timer(s, s->sys->src_task + task, s->sys->now + nap);
    resched_curr(s, cpu);
}

static void wake(const state *s, int64_t task)
{
    int64_t cpu = s->se[task].rq;
    s->sys->this_cpu = cpu;
    set_timer(s, s->sys->src_task + task, NEVER);
    s->task[task].work = draw(s, &s->stream[task].rng, RUN_NS);
    update_curr(s, cpu);
    place_entity(s, cpu, task);
    s->rq[cpu].load += s->se[task].weight;
    s->rq[cpu].nr++;
    eevdf_enqueue(s, cpu, task);
    s->se[task].on_rq = 1;
    if (s->rq[cpu].curr < 0 || pick_eevdf(s, cpu) == task)
        resched_curr(s, cpu);
}

static void tick(const state *s, int64_t cpu)
{
    s->sys->this_cpu = cpu;
    set_timer(s, s->sys->src_tick + cpu, s->sys->now + s->sys->tick_ns);
    update_curr(s, cpu);
}

#define BASE(record) .record = (record##_t *)header[2 * SLOT_##record]

uint64_t run(int64_t address, int64_t nr_events, uint64_t checksum)
{
    const int64_t *header = (const int64_t *)address;
    const state in = {BASE(sys), BASE(ev), BASE(lvl), BASE(cpu), BASE(task),
                      BASE(stream), BASE(table), BASE(se), BASE(rq), BASE(tg)};
    const state *s = &in;
    for (int64_t k = 0; k < nr_events; k++) {
        int64_t key = first_key(s);
        s->sys->now = key >> SOURCE_BITS;
        checksum = mix(checksum ^ (uint64_t)key);
        int64_t source = key & SOURCE_MASK;
        if (source >= s->sys->src_task)
            wake(s, source - s->sys->src_task);
        else if (source >= s->sys->src_cpu)
            finish(s, source - s->sys->src_cpu);
        else
            tick(s, source - s->sys->src_tick);
        for (int64_t cpu = next_resched(s); cpu >= 0; cpu = next_resched(s))
            schedule(s, cpu);
    }
    return checksum;
}
