// raw_load sends prepared requests to a broker, as fast as it answers or at a fixed rate.
//
//	raw_load PLAN.json
//
// It is written so that the broker is the limit: one thread, one epoll, requests that only get a
// correlation id, answers that are counted and not looked at (long ones are not even copied). What
// they say is judged by whoever prepared the requests.
//
// When all connections are open it prints "ready" and waits for a line; then it runs the plan,
// prints its result as one line of JSON, and holds its connections until its input ends.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	runtime.LockOSThread()
	plan, frames, err := readPlan(path)
	if err != nil {
		return err
	}
	l := &load{plan: plan, frames: frames}
	if err := l.connect(); err != nil {
		return err
	}
	fmt.Println("ready")
	orders := bufio.NewReader(os.Stdin)
	if _, err := orders.ReadString('\n'); err != nil {
		return err
	}
	if err := l.run(); err != nil {
		return err
	}
	line, err := json.Marshal(l.result())
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	_, _ = orders.ReadString('\n')
	return nil
}
