/* hole - P (in-kernel work, then blocks) and N (user-mode hogs) under a quota; static, one file.
 *   hole -d GROUPDIR -s STATDIR -t secs -k kernel_us -z sleep_us -m read|pipe|none -n hogs -c cpu -M monitor_cpu [-i sample_ms]
 * GROUPDIR: cgroup v2 directory the tasks join; STATDIR: the directory whose cpu.stat is read (the one with the quota).
 * read: P = read(/dev/zero, S) ; clock_nanosleep(sleep). Two system calls: it passes the return to user mode in between.
 * pipe: P = write(pipe, capacity + 1 page): copies the capacity, then blocks in the same call until the monitor, on another CPU,
 *       drains the pipe sleep_us after it found it full. S is fixed by the pipe's capacity, chosen from the calibration.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <errno.h>
#include <time.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/prctl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
static uint64_t ns(void){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return (uint64_t)t.tv_sec*1000000000ull+t.tv_nsec;}
static void die(const char*s){perror(s);exit(1);}
static void pin(int c){cpu_set_t s;CPU_ZERO(&s);CPU_SET(c,&s);if(sched_setaffinity(0,sizeof s,&s))die("affinity");}
static void join(const char*d){char f[256],b[32];snprintf(f,256,"%s/cgroup.procs",d);int fd=open(f,O_WRONLY);snprintf(b,32,"%d",getpid());if(fd<0||write(fd,b,strlen(b))<0)die(f);close(fd);}
static void nap(long us){struct timespec t={us/1000000,(us%1000000)*1000};clock_nanosleep(CLOCK_MONOTONIC,0,&t,0);}
static void cpustat(const char*d,char*o,size_t n){char f[256];snprintf(f,256,"%s/cpu.stat",d);int fd=open(f,O_RDONLY);if(fd<0)die(f);ssize_t r=read(fd,o,n-1);o[r<0?0:r]=0;close(fd);}
static long long fld(const char*s,const char*k){const char*p=s;size_t l=strlen(k);while(p){if(!strncmp(p,k,l)&&p[l]==' ')return atoll(p+l);p=strchr(p,'\n');if(p)p++;}return -1;}
struct sh{volatile uint64_t pcyc,pker_ns,pmax;volatile int go;} *sh;
int main(int ac,char**av){
  const char*dir=0,*sd=0,*mode="read";double secs=5;long kus=3300,zus=1000;int hogs=1,cpu=0,mon=0,o;long samp=0;
  while((o=getopt(ac,av,"d:s:t:k:z:m:n:c:M:i:"))>=0)switch(o){case'd':dir=optarg;break;case's':sd=optarg;break;case't':secs=atof(optarg);break;case'k':kus=atol(optarg);break;
    case'z':zus=atol(optarg);break;case'm':mode=optarg;break;case'n':hogs=atoi(optarg);break;case'c':cpu=atoi(optarg);break;case'M':mon=atoi(optarg);break;case'i':samp=atol(optarg);break;default:return 2;}
  sh=mmap(0,4096,PROT_READ|PROT_WRITE,MAP_SHARED|MAP_ANONYMOUS,-1,0);memset(sh,0,sizeof*sh);
  pin(cpu);
  int zf=open("/dev/zero",O_RDONLY);if(zf<0)die("/dev/zero");
  size_t max=64u<<20,S=0;char*buf=mmap(0,max,PROT_READ|PROT_WRITE,MAP_PRIVATE|MAP_ANONYMOUS|MAP_POPULATE,-1,0);
  double npb=1e9;int pf[2]={-1,-1};double real=0;
  if(!strcmp(mode,"read")){
    for(int i=0;i<8;i++){uint64_t t=ns();if(read(zf,buf,1<<20)!=1<<20)die("read");double r=(ns()-t)/(double)(1<<20);if(r<npb)npb=r;}
    S=kus*1e3/npb;if(S>max)S=max;S&=~4095ul;if(!S)S=4096;
    uint64_t b=~0ull;for(int i=0;i<5;i++){uint64_t t=ns();if(read(zf,buf,S)<0)die("read");t=ns()-t;if(t<b)b=t;}real=b/1e3;
  }else if(!strcmp(mode,"pipe")){
    if(pipe(pf))die("pipe");
    int c=fcntl(pf[1],F_SETPIPE_SZ,1<<20);if(c<0)die("pipesz");
    for(int i=0;i<5;i++){uint64_t t=ns();if(write(pf[1],buf,c)!=c)die("w");double r=(ns()-t)/(double)c;if(r<npb)npb=r;if(read(pf[0],buf,c)!=c)die("r");}
    S=4096;while(S*1.5*npb<kus*1e3&&S<max/2)S*=2; /* capacities are powers of two pages: nearest in ratio */
    int fd=open("/proc/sys/fs/pipe-max-size",O_WRONLY);if(write(fd,"67108864",8)<0)die("pipe-max");close(fd);
    if((c=fcntl(pf[1],F_SETPIPE_SZ,S))<0)die("pipesz2");
    S=c;
    uint64_t b=~0ull;for(int i=0;i<3;i++){uint64_t t=ns();if(write(pf[1],buf,S)!=(ssize_t)S)die("w");t=ns()-t;if(t<b)b=t;if(read(pf[0],buf,S)!=(ssize_t)S)die("r");}real=b/1e3;
  }
  pid_t pid[16];int np=0;
  for(int i=0;i<hogs;i++)if(!(pid[np++]=fork())){prctl(PR_SET_NAME,i?"N2":"N");pin(cpu);join(dir);while(!sh->go)nap(500);volatile uint64_t x=0;for(;;)x++;}
  if(strcmp(mode,"none")&&!(pid[np++]=fork())){prctl(PR_SET_NAME,"P");pin(cpu);
    /* touch the whole buffer: after fork it is shared copy-on-write */
    for(size_t i=0;i<max&&i<=S+4096;i+=4096)buf[i]=1;
    join(dir);while(!sh->go)nap(500);
    for(;;){ if(pf[1]>=0){if(write(pf[1],buf,S+4096)<0)die("w");}
      else{if(read(zf,buf,S)<0)die("read");nap(zus);}
      sh->pcyc++;}
  }
  pin(mon);prctl(PR_SET_NAME,"mon");nap(20000);
  static char a[2048],b[2048];cpustat(sd,a,2048);uint64_t t0=ns();sh->go=1;uint64_t te=t0+(uint64_t)(secs*1e9),nx=t0+samp*1000000ull;
  static char line[65536];int l=0;long long u0=fld(a,"usage_usec"),lu=u0;
  char*rb=pf[0]>=0?mmap(0,S+8192,PROT_READ|PROT_WRITE,MAP_PRIVATE|MAP_ANONYMOUS|MAP_POPULATE,-1,0):0;
  for(;;){uint64_t n=ns();if(n>=te)break;
    if(samp&&n>=nx){cpustat(sd,b,2048);long long u=fld(b,"usage_usec");if(l<65000)l+=sprintf(line+l,"%s%lld",l?",":"",(u-lu)/1000);lu=u;nx+=samp*1000000ull;}
    if(pf[0]>=0){int q=0;ioctl(pf[0],FIONREAD,&q);if(q>=(int)S){nap(zus-50>0?zus-50:1);if(read(pf[0],rb,S)<0)die("r");}else nap(400);continue;}
    uint64_t w=samp&&nx<te?nx:te;struct timespec ts={w/1000000000ull,w%1000000000ull};clock_nanosleep(CLOCK_MONOTONIC,TIMER_ABSTIME,&ts,0);}
  cpustat(sd,b,2048);uint64_t t1=ns();
  for(int i=0;i<np;i++)kill(pid[i],9);
  double w=(t1-t0)/1e3;
#define D(k) (fld(b,k)-fld(a,k))
  printf("{\"mode\":\"%s\",\"hogs\":%d,\"kernel_us_asked\":%ld,\"kernel_us_calibrated\":%.1f,\"bytes\":%zu,\"sleep_us\":%ld,\"wall_us\":%.0f,\"usage_usec\":%lld,\"user_usec\":%lld,\"system_usec\":%lld,"
    "\"nr_periods\":%lld,\"nr_throttled\":%lld,\"throttled_usec\":%lld,\"p_cycles\":%llu,\"start_ns\":%llu,\"share_percent\":%.2f,\"usage_ms_per_sample\":[%s]}\n",
    mode,hogs,kus,real,S,zus,w,D("usage_usec"),D("user_usec"),D("system_usec"),D("nr_periods"),D("nr_throttled"),D("throttled_usec"),(unsigned long long)sh->pcyc,(unsigned long long)t0,100.0*D("usage_usec")/w,line);
  fflush(stdout);
  for(int i=0;i<np;i++)waitpid(pid[i],0,0);
  return 0;}
