#!/bin/bash
echo "Keep in mind: compacted on a $(jq -r .trigger) wish; the ticket is CALC-7."
