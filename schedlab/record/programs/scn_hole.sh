# scenario hole: quota 10/100 ms on A; tasks in A/B or in A. VARIANTS, REPS, SECS, FEAT (e.g. NO_HRTICK), MON (cpu of the monitor), SAMP ms
SECS=${SECS:-10}; REPS=${REPS:-3}; MON=${MON:-1}; SAMP=${SAMP:-100}; QUOTA="${QUOTA:-10000 100000}"
for f in $FEAT; do echo $f > /sys/kernel/debug/sched/features; done
[ -n "$SLICE" ] && echo $SLICE > /sys/kernel/debug/sched/base_slice_ns
echo "features: $(cat /sys/kernel/debug/sched/features)"; echo "base_slice_ns $(cat /sys/kernel/debug/sched/base_slice_ns)"
tron() { echo 4000 > $T/buffer_size_kb; echo mono > $T/trace_clock; echo > $T/trace; echo 1 > $T/events/sched/sched_switch/enable; for e in $EVX; do echo 1 > $T/events/$e/enable; done; echo 1 > $T/tracing_on; }
troff() { echo 0 > $T/tracing_on; echo 0 > $T/events/sched/sched_switch/enable; cat $T/per_cpu/cpu0/trace | gzip -n -c > $O/$1.gz; }
one() { # one NAME REP nested|direct args...
  n=$1$SUF; r=$2; w=$3; shift 3
  mk A "$QUOTA"; d=$C/A; if [ $w = nested ]; then echo "+cpu" > $C/A/cgroup.subtree_control; mkdir $C/A/B; d=$C/A/B; fi
  tr=0; [ $r = 1 ] && case " $TRACE " in *" $n "*) tr=1; tron;; esac
  hole -d $d -s $C/A -t $SECS -c 0 -M $MON -i $SAMP "$@" > $O/h.$n.r$r.json
  [ $tr = 1 ] && troff h.$n.r$r.trace
  echo "RESULT $n r$r $(cat $O/h.$n.r$r.json)"; echo "RESULT $n r$r $(cat $O/h.$n.r$r.json)" > /dev/ttyS0
  sleep 0.1; [ $w = nested ] && rmdir $C/A/B; rmdir $C/A; }
quiet() { for p in /proc/[0-9]*; do [ -z "$(tr -d '\0' < $p/cmdline 2>/dev/null)" ] && taskset -p 2 ${p#/proc/} >/dev/null 2>&1; done; echo 300 > /proc/sys/vm/stat_interval; echo 2 > /sys/devices/virtual/workqueue/cpumask; for f in /proc/sys/net/ipv[46]/neigh/default/interval_probe_time_ms; do echo 3600000 > $f; done; sleep 6; }
all() {
for r in $(seq $REPS); do for v in ${VARIANTS:-Nalone direct33 nest05 nest33 nest100 nestNN}; do
 case $v in
  Nalone) one $v $r nested -m none -n 1;;
  direct33) one $v $r direct -m read -k 3300;;
  nest05) one $v $r nested -m read -k 500;;
  nest33) one $v $r nested -m read -k 3300;;
  nest100) one $v $r nested -m read -k 10000;;
  pipe33) one $v $r nested -m pipe -k 3300;;
  pipedirect33) one $v $r direct -m pipe -k 3300;;
  nestNN) one $v $r nested -m none -n 2;;
  directNN) one $v $r direct -m none -n 2;;
 esac; done; done
}
TRACE="${TRACE-nest33 nestNN nest33q}"
all
if [ -n "$QV" ]; then quiet; SUF=q; VARIANTS="$QV"; all; fi
