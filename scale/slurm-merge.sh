#!/bin/sh
# Adds up the reports of slurm.sh.
#SBATCH --job-name=overlapsim-merge
#SBATCH --mem=1G
#SBATCH --time=00:05:00
#SBATCH --output=merge-%j.out

overlapsim merge reports
