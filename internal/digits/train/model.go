package main

// encodeModel placeholder until compiled below
