/* Touching memory, and what happens where that is not allowed. */
#include "recorder.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

static sigjmp_buf fault_return;
static volatile unsigned long fault_address;
static volatile int fault_code, fault_signal;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    fault_signal = signal;
    fault_code = info->si_code;
    fault_address = (unsigned long)info->si_addr;
    siglongjmp(fault_return, 1);
}

static const char *code_name(int signal, int code)
{
    if (signal == SIGBUS) return code == BUS_ADRERR ? "BUS_ADRERR" : "BUS_ADRALN";
    return code == SEGV_MAPERR ? "SEGV_MAPERR" : "SEGV_ACCERR";
}

/* Writes to each page. What was written is printed as the call that does the same; a fault as the signal. */
void touch(const struct op *op)
{
    volatile u64 done = 0;
    bool failed = sigsetjmp(fault_return, 1) != 0;
    if (!failed)
        for (; done < op->a[1]; done += PAGE) *(volatile char *)(op->a[0] + done) = 1;
    if (done) {
        struct op whole = *op;
        whole.a[1] = done;
        whole.a[2] = MADV_POPULATE_WRITE;
        emit_call(&whole, (struct outcome){0, 0});
        record_vmas();
    }
    if (failed)
        emit("%d --- %s {si_signo=%s, si_code=%s, si_addr=%#lx} ---\n", S->proc[me].label,
             fault_signal == SIGBUS ? "SIGBUS" : "SIGSEGV", fault_signal == SIGBUS ? "SIGBUS" : "SIGSEGV",
             code_name(fault_signal, fault_code), fault_address);
}

/* Faults are caught on a stack of their own, since they happen on any. */
void catch_on(void *stack)
{
    stack_t alternative = {.ss_sp = stack, .ss_size = FAULT_STACK};
    sigaltstack(&alternative, NULL);
}

void catch_faults(void)
{
    static char stack[FAULT_STACK] __attribute__((aligned(4096)));
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    catch_on(stack);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}
